"""The table of drafts."""

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
            name='PageDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=36)),
                ('operation_key', models.CharField(blank=True, max_length=128)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('fields_json', models.TextField()),
                ('saved_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-saved_at', '-pk'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['user', '-saved_at'], name='page_drafts_user_id_441e37_idx')],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='one_draft_per_form_and_user')],
            },
        ),
    ]
