"""The tables of reviews."""


import dashboard.review.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('releases', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ReviewRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('form_key', models.CharField(default=dashboard.review.models.new_tab, max_length=64, unique=True)),
                ('tab', models.CharField(default=dashboard.review.models.new_tab, max_length=36, unique=True)),
                ('title', models.CharField(max_length=200)),
                ('query', models.TextField(blank=True)),
                ('matches', models.PositiveIntegerField()),
                ('keys', models.JSONField()),
                ('assigned_to', models.CharField(blank=True, choices=[('', 'Everyone'), ('me', 'You'), ('none', 'Nobody')], max_length=4)),
                ('position', models.PositiveIntegerField(default=1)),
                ('created_at', models.DateTimeField()),
                ('active_at', models.DateTimeField()),
                ('release', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='releases.release')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='review_runs', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-active_at', '-pk'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ChangeVerdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page_id', models.TextField()),
                ('audience_id', models.TextField()),
                ('change_key', models.TextField()),
                ('text_digest', models.CharField(max_length=64)),
                ('new_digest', models.CharField(blank=True, max_length=64)),
                ('new_words', models.PositiveIntegerField()),
                ('verdict', models.CharField(choices=[('accepted', 'Accepted'), ('rejected', 'Rejected')], max_length=16)),
                ('note', models.TextField(blank=True)),
                ('user_name', models.CharField(max_length=200)),
                ('at', models.DateTimeField()),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('page_id', 'audience_id', 'change_key'), name='one_verdict_a_change')],
            },
        ),
        migrations.CreateModel(
            name='ReviewDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user_name', models.CharField(max_length=200)),
                ('page_id', models.TextField()),
                ('audience_id', models.TextField()),
                ('audience_name', models.TextField()),
                ('version_id', models.TextField()),
                ('version_number', models.BigIntegerField()),
                ('text_digest', models.CharField(max_length=64)),
                ('record_digest', models.CharField(max_length=32)),
                ('basis_digest', models.CharField(max_length=64)),
                ('kind', models.CharField(choices=[('release', 'In a release'), ('needs_work', 'Needs work'), ('rejected', 'Rejected'), ('later', 'Later'), ('skipped', 'Skipped')], max_length=16)),
                ('at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(null=True)),
                ('reason', models.TextField(blank=True)),
                ('is_for_team', models.BooleanField(default=False)),
                ('until', models.DateTimeField(null=True)),
                ('time_zone', models.CharField(blank=True, max_length=64)),
                ('until_as_typed', models.CharField(blank=True, max_length=40)),
                ('comment_id', models.BigIntegerField(null=True)),
                ('release_item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='releases.releaseitem')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, to='review.reviewrun')),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['page_id', 'audience_id', '-at'], name='review_revi_page_id_f6b44c_idx'), models.Index(fields=['-at'], name='review_revi_at_b934fe_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('run', 'basis_digest', 'kind'), name='one_decision_a_form')],
            },
        ),
    ]
