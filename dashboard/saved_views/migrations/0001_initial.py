"""The tables of saved views."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list_name', models.CharField(choices=[('pages', 'Pages'), ('audiences', 'Audiences'), ('activity', 'Activity'), ('people', 'People'), ('webhooks', 'Webhooks')], max_length=16)),
                ('name', models.CharField(max_length=60)),
                ('query', models.TextField()),
                ('position', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField()),
                ('created_by_name', models.CharField(max_length=200)),
                ('changed_at', models.DateTimeField()),
                ('changed_by_name', models.CharField(max_length=200)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['position', 'pk'],
                'permissions': [('change_team_views', "Can change the team's saved views")],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='DefaultView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list_name', models.CharField(choices=[('pages', 'Pages'), ('audiences', 'Audiences'), ('activity', 'Activity'), ('people', 'People'), ('webhooks', 'Webhooks')], max_length=16)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('view', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='saved_views.savedview')),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(condition=models.Q(('owner__isnull', False)), fields=('owner', 'list_name', 'name'), name='one_view_per_name_and_owner'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(condition=models.Q(('owner__isnull', True)), fields=('list_name', 'name'), name='one_team_view_per_name'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('list_name', 'people'), _negated=True), ('owner__isnull', False), _connector='OR'), name='views_of_people_have_an_owner'),
        ),
        migrations.AddConstraint(
            model_name='defaultview',
            constraint=models.UniqueConstraint(condition=models.Q(('user__isnull', False)), fields=('user', 'list_name'), name='one_default_view_per_user'),
        ),
        migrations.AddConstraint(
            model_name='defaultview',
            constraint=models.UniqueConstraint(condition=models.Q(('user__isnull', True)), fields=('list_name',), name='one_default_view_of_the_team'),
        ),
    ]
